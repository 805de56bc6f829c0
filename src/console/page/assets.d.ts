// What Vite makes of an import that ends so: the address of a file beside the page.

declare module '*?url' {
  export const url: string
  export { url as default }
}
