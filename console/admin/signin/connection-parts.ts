import { connectionsTexts } from '../connections/texts.ts';
import { withTexts } from '../language/language.ts';

/** The parts of connections, with their texts. */
export const { ConnectionList, ConnectionPage, OrganizationConnections } = await withTexts(
  connectionsTexts,
  () => import('../connections/parts.ts'),
);
