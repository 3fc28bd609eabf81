// Written by `build-pages.ts`; it need not be there for the types to be checked.
declare module '*/dist/web/pages.js' {
  export const pages: readonly {
    readonly page: 'console' | 'docs'
    readonly name: string
    readonly type: string
    readonly hash: string
    readonly brotli: string
    readonly gzip: string
  }[]
}
