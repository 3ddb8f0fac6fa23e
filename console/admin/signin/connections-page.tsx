import { useParams } from 'react-router';
import { ConnectionList, ConnectionPage } from './connection-parts.ts';

/** The connections of a project, or one of them. */
export function Component() {
  const { connectionId } = useParams();
  return connectionId === undefined ? <ConnectionList /> : <ConnectionPage />;
}
