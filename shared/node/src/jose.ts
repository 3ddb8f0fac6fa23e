/** jose has no CommonJS build, and `require` of ES modules needs Node 20.19: `import()` works everywhere. */
export const jose = () => import('jose');
