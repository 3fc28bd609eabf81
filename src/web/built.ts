// What `build-pages.ts` made of the folders beside this file.

/** The pages' files; imported when the first of them is asked for, so that a start costs nothing. */
export const loadPages = async () => (await import('../../dist/web/pages.js')).pages
