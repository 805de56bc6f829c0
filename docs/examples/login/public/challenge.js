// ALTCHA's work is done in a worker that comes from this host, as the page's policy of content wants.

globalThis.$altcha.algorithms.set('PBKDF2/SHA-256', () => new Worker('/altcha-worker.js'))
