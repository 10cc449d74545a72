/** The version of the standard that is published, and that the data beside this file describes. By itself: it costs nothing. */
export const standardVersion = '2.03'
