// The header by which a request of the console's page proves its session, for both its ends.

/** With the mark of its session each request of the console's page that changes something. */
export const csrfHeader = 'x-iprisk-csrf'
