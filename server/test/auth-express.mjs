/** Not TypeScript: the package's types would add those of the DOM to every file of the server. */
export { ExpressAuth } from '@auth/express';
