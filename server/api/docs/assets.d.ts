declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string

  export { path as default }
}

declare module 'swagger-ui-dist/swagger-ui.css' {
  const path: string

  export { path as default }
}
