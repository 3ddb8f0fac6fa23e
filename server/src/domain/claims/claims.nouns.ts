import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { ClaimSettingsRow } from './claim-settings.entity.ts';

export const claimsNouns = {
  entities: [ClaimSettingsRow],
  transfer: [{ type: 'claim-settings', table: 'claim_settings', parent: childOf('client'), key: ['client_id'] }],
} satisfies Declaration;
