/** Apart from TypeScript: the package's own types bring those of the browser into every file of the server. */
export { ExpressAuth } from '@auth/express';
