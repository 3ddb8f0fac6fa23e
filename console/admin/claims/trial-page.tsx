import { Alert, Badge, Group, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { useMutation } from '../api.ts';
import type { Failure } from '../failure.ts';
import {
  AuditEvents,
  EndUserSession,
  FinishTrial,
  type FinishTrialMutation,
  UserAccess,
  UserById,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { LinkButton, SecondaryButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { FormError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { useAction } from '../ui/feedback/use-action.ts';
import { Page, Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { exactly } from '../ui/time.tsx';
import { claimDescriptions, formatClaim, timeOf } from './claim-descriptions.ts';

type Result = FinishTrialMutation['finishTrial'];
type Token = Result['idToken'];

/** Callback of a test sign-in: shows the tokens that the application would receive. */
export function Component() {
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const [finish] = useMutation(FinishTrial, []);
  const [failure, setFailure] = useState<Failure>();
  const [result, setResult] = useState<Result>();
  const [error] = useState(
    () => params.get('error') && { code: params.get('error'), text: params.get('error_description') },
  );
  const asked = useRef(false);
  const [code, state] = [params.get('code'), params.get('state')];
  useEffect(() => {
    if (asked.current || !code || !state) return;
    // Codes are single use.
    asked.current = true;
    const [clientId = ''] = state.split('.');
    void finish({ input: { clientId, state, code } }).then(({ data, failure: refused }) => {
      setFailure(refused);
      setResult(data?.finishTrial);
      void navigate('/trial', { replace: true });
    });
  }, [code, state, finish, navigate]);
  if (result) return <Shown result={result} />;
  if (code && !failure) return <PageSkeleton />;
  return (
    <Page title={t('Test sign-in')}>
      <Empty
        icon={failure || error ? 'warning' : 'applications'}
        title={failure || error ? t('Sign-in failed') : t('No test sign-in to show')}
        action={
          <LinkButton to="/" variant="filled">
            {t('Go to home')}
          </LinkButton>
        }
      >
        {error
          ? error.text
            ? t('The application would receive the error {code}: {text}', { code: error.code, text: error.text })
            : t('The application would receive the error {code}.', { code: error.code })
          : failure && failure.code !== 'grant-rejected'
            ? failure.message
            : t(
                'A result is shown once, within a minute, in the browser that started it. Start another from the application’s quickstart.',
              )}
      </Empty>
    </Page>
  );
}

function Shown({ result }: { result: Result }) {
  const { client, idToken, accessToken, userInfo, revoked } = result;
  const who = String(idToken.claims['email'] ?? idToken.claims['sub']);
  const isGood = idToken.verified && accessToken.verified;
  return (
    <Page
      title={
        isGood
          ? t('Sign-in to {name} works', { name: client.name })
          : t('Sign-in to {name} failed verification', { name: client.name })
      }
      back={{ to: `/projects/${client.project.id}/applications/${client.id}`, label: client.name }}
      lead={t('Tokens that the application would receive for {who}', { who })}
    >
      <Alert color="neutral">
        {revoked
          ? t('The tokens never left the server, and the access token is revoked.')
          : t('The access token could not be revoked; it will expire.')}{' '}
        {t('The server exchanged the code; see the quickstart for the request of your application.')}
        <Session sid={idToken.claims['sid']} who={who} />
      </Alert>
      <TokenSection
        title={t('ID token')}
        lead={t('Identifies the user. Your application verifies it and starts its own session.')}
        token={idToken}
      />
      <TokenSection title={t('Access token')} lead={t('Valid for UserInfo only.')} token={accessToken} />
      <Section title={t('UserInfo')} lead={t('Claims for the scopes {scope}', { scope: result.scope })}>
        <Claims label={t('UserInfo')} claims={userInfo} />
      </Section>
    </Page>
  );
}

/** The test sign-in created a real session in the project. */
function Session({ sid, who }: { sid: unknown; who: string }) {
  const end = useAction(EndUserSession, [UserById, UserAccess, AuditEvents], t('Session ended'));
  const [ended, setEnded] = useState(false);
  if (typeof sid !== 'string') return null;
  return (
    <Group component="p" gap="xs" mt="xs">
      {ended ? (
        t('The session of {who} has ended.', { who })
      ) : (
        <>
          {t('{who} is signed in to the project in this browser now.', { who })}
          <SecondaryButton
            size="compact-sm"
            loading={end.busy}
            onClick={async () => setEnded((await end.run({ id: sid })) !== undefined)}
          >
            {t('End this session')}
          </SecondaryButton>
        </>
      )}
      <FormError failure={end.failure} />
    </Group>
  );
}

function TokenSection({ title, lead, token }: { title: string; lead: string; token: Token }) {
  return (
    <Section
      title={title}
      lead={lead}
      actions={
        token.verified ? (
          <Badge color="good">{t('Signature verified')}</Badge>
        ) : (
          <Badge color="bad">{t('Does not verify')}</Badge>
        )
      }
    >
      <h3>{t('Header')}</h3>
      <Claims label={t('{title}, header', { title })} claims={token.header} />
      <h3>{t('Claims')}</h3>
      <Claims label={t('{title}, claims', { title })} claims={token.claims} />
    </Section>
  );
}

type Claim = [name: string, value: unknown];

const claimColumns: Column<Claim>[] = [
  { header: t('Name'), isName: true, width: '9rem', cell: ([name]) => <code>{name}</code> },
  {
    header: t('Value'),
    cell: ([name, value]) => {
      const at = timeOf(name, value);
      return (
        <>
          <code>{formatClaim(value)}</code>
          {at !== undefined && <Text>{exactly(new Date(at).toISOString())}</Text>}
        </>
      );
    },
  },
  { header: t('Meaning'), cell: ([name]) => claimDescriptions[name] ?? '' },
];

function Claims({ label, claims }: { label: string; claims: Record<string, unknown> }) {
  return (
    <DataTable dense label={label} columns={claimColumns} rows={Object.entries(claims)} keyOf={([name]) => name} />
  );
}
