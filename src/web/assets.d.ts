declare module '*.css' {
  const text: string;
  export default text;
}

declare module '*.svg' {
  const text: string;
  export default text;
}
declare module '*.browser.js' {
  const text: string;
  export default text;
}
declare module '*.woff2' {
  const path: string;
  export default path;
}
