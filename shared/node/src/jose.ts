/** jose has no CommonJS build, and `require` of one that has none works only from Node 20.19 on: `import()` always does. */
export const jose = () => import('jose');
