/** The reason that a part of the page could not be loaded. */
export const NOT_LOADED = 'this page is out of date, or plantstore does not answer; reload the page'
