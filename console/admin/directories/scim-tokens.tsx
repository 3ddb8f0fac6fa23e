import { RevokeScimToken, type ScimTokenRowFragment, ScimTokens } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useOutline } from '../projects/project.tsx';
import { isLive } from '../ui/secrets/expiry.ts';
import { TokenList } from '../ui/secrets/token-list.tsx';
import { IssueToken } from './issue-token.tsx';
import type { DirectoryOwner } from './owner.ts';

export type ScimToken = ScimTokenRowFragment;

interface TokensProps {
  owner: DirectoryOwner;
  tokens: readonly ScimToken[] | undefined;
  mayChange: boolean;
}

/** The directory's SCIM tokens. Several may be live at once, for rotation without downtime. */
export function Tokens({ owner, tokens, mayChange }: TokensProps) {
  const project = useOutline();
  const othersThan = ({ id }: ScimToken) => tokens?.filter((token) => isLive(token) && token.id !== id).length ?? 0;
  return (
    <TokenList
      title={t('Tokens')}
      lead={t('To rotate: issue a new token, set it in the directory, then revoke the old one.')}
      label={t('Directory tokens')}
      tokens={tokens}
      prefix="lk_scim_"
      columns={[
        { header: t('Networks'), cell: ({ networks }) => networks.join(', ') || t('All') },
        { header: t('Last address'), cell: ({ lastUsedAddress }) => lastUsedAddress ?? '–' },
      ]}
      empty={t('Directories authenticate with a token. Without one, SCIM requests fail.')}
      mayChange={mayChange}
      mayIssue={project.scimEnabled}
      form={(issued) => <IssueToken owner={owner} onIssued={issued} />}
      secret={{ label: t('SCIM token'), fileName: 'scim-token.txt' }}
      revocation={{ operation: RevokeScimToken, invalidates: [ScimTokens] }}
      consequence={(token) => {
        const others = othersThan(token);
        const rest = t('{count, plural, one {# other is live.} other {# others are live.}}', { count: others });
        return {
          before: t('Requests with this token fail immediately. Users stay.'),
          after: others === 0 ? t('No other token is live: the sync stops.') : rest,
        };
      }}
    />
  );
}
