import { useParams } from 'react-router';
import { connectionsTexts } from '../connections/texts.ts';
import { withTexts } from '../language/language.ts';

/** The texts load before the modules. */
const { ConnectionList, ConnectionPage } = await withTexts(connectionsTexts, () => import('../connections/parts.ts'));

/** The connections of a project, or one of them. */
export function Component() {
  const { connectionId } = useParams();
  return connectionId === undefined ? <ConnectionList /> : <ConnectionPage />;
}
