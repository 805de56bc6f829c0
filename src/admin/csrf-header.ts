// The header by which a request of the console's page proves its session, for both its ends.

/** Carries the session's text in every request of the page, reads included. */
export const csrfHeader = 'x-iprisk-csrf'
