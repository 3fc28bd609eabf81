// The output of `build-pages.ts` for the folders beside this file.

/** The files of the pages; imported on the first request, to keep startup fast. */
export const loadPages = async () => (await import('../../dist/web/pages.js')).pages
