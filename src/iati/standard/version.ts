/** The version of the standard that is published and that `data/` describes. Importing this file does not load the data. */
export const standardVersion = '2.03'
