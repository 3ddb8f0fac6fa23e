/** The pages of connections: one script. */
export { ConnectionList } from './connection-list.tsx';
export { ConnectionPage } from './connection-page.tsx';
