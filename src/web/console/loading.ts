/** The reason that a part of the page is missing. */
export const NOT_LOADED = 'this page is out of date, or plantstore does not answer; reload the page'
