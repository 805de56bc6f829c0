// The header by which a request of the console's page proves its session, for both its ends.

/** Every request of the console's page carries the text of its session in it, reads included. */
export const csrfHeader = 'x-iprisk-csrf'
