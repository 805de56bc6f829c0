// The limits of feedback, each with its reason.

/** Of a request: what a worker's loop reads in a millisecond or two. */
export const outcomesMax = 1000
/** As of an entry of a list: a ticket's number and some words. */
export const noteBytesMax = 200
/** Of the file of a day: some two million outcomes. What comes beyond it is refused. */
export const dayBytesMax = 268_435_456
/** Of a file that `feedback import` reads. */
export const importBytesMax = 268_435_456
