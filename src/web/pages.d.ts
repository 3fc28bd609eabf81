// The module that `build-pages.ts` writes; declared so that types check without it.
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
