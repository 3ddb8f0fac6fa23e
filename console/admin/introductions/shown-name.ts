import type { IntroducedRowFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';

type Introduced = Pick<IntroducedRowFragment, 'name' | 'metadataUrl' | 'redirectUris' | 'introduction'>;

/**
 * The name of an application: its host, which is verified by its document or its redirect URIs. Without one, any program on a device
 * can be it, and its name is only a claim.
 */
export function shownName({ name, metadataUrl, redirectUris, introduction }: Introduced): {
  name: string;
  claim: string | null;
} {
  const hasHost = metadataUrl !== null || redirectUris.some((uri) => uri.startsWith('https:'));
  const claim = introduction?.claimedName ?? null;
  return {
    name: hasHost ? name : t("An application on the user's device"),
    claim: claim === name && hasHost ? null : claim,
  };
}
