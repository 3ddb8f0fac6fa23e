import { Button, Group, Skeleton, Stack, ThemeIcon } from '@mantine/core';
import { type ComponentProps, lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { SetConnectionState } from '../generated/operations.ts';
import { t, withTexts } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { providersTexts } from '../providers/texts.ts';
import { SecondaryButton } from '../ui/buttons.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { FormError } from '../ui/feedback/errors.tsx';
import { useAction } from '../ui/feedback/use-action.ts';
import { type Confirmation, useDialog } from '../ui/feedback/use-dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Section } from '../ui/layout/page.tsx';
import type { Connection, ConnectionPartProps } from './connection-part.ts';
import { stale } from './connection-state.tsx';
import { providerOf } from './providers.ts';
import { ProviderFields } from './settings/provider-fields.tsx';
import { SamlAddresses, SamlMetadata } from './settings/saml-metadata.tsx';
import { isComplete, needsSecret, providerInput, providerValuesOf } from './settings/settings-values.ts';
import { useConnectionForm } from './settings/use-connection-form.ts';
import { TestConnectionButton } from './test-connection.tsx';

const loadSteps = () => withTexts(providersTexts, () => import('../providers/provider-step.tsx'));
const ProviderStep = lazy(async () => ({ default: (await loadSteps()).ProviderStep }));

const Steps = (props: ComponentProps<typeof ProviderStep>) => (
  <Suspense fallback={props.step !== 'note' && <Skeleton h="1.25rem" maw="36rem" aria-busy />}>
    <ProviderStep {...props} />
  </Suspense>
);

/** The steps from a draft to an enabled connection. */
export function ConnectionSetup({ connection, mayChange }: ConnectionPartProps) {
  const [isShown, setShown] = useState(false);
  const provider = providerOf(connection.preset);
  const isReady = isComplete(connection);
  const isSaml = connection.kind === 'SAML';
  if (connection.state === 'ENABLED' && !isShown) {
    return (
      <Section
        title={t('Setup')}
        lead={t('The steps at {provider}, and the address to register there', { provider: provider.name })}
        actions={
          <>
            <SecondaryButton onClick={() => setShown(true)}>{t('Show the steps')}</SecondaryButton>
            {mayChange && <TestConnectionButton connection={connection} />}
          </>
        }
      />
    );
  }
  return (
    <Section title={t('Setup')} lead={t('Nothing changes for users until the connection is enabled.')}>
      <Stack component="ol" gap="1.5rem">
        <Step number={1} isDone={isReady}>
          <Steps preset={connection.preset} step={isSaml ? 'saml' : 'create'} />
        </Step>
        <Step number={2} isDone={isReady}>
          {isSaml ? <SamlAddresses callback={connection.callback} /> : <RedirectUri connection={connection} />}
        </Step>
        <Step number={3} isDone={isReady}>
          {isSaml ? (
            <SamlMetadata connection={connection} mayChange={mayChange} />
          ) : (
            <>
              <p>{t('Enter the values of that application here:')}</p>
              <ProviderValues connection={connection} mayChange={mayChange} />
            </>
          )}
        </Step>
        <Step number={4} isDone={connection.state !== 'DRAFT'}>
          <p>{t('Test the sign-in: a new tab shows the values that the provider sends, or what to fix.')}</p>
          {mayChange && <TestConnectionButton connection={connection} isFirst={connection.state === 'DRAFT'} />}
        </Step>
        <Step number={5} isDone={connection.state === 'ENABLED'}>
          <p>{enabling(connection)}</p>
          {mayChange && connection.state !== 'ENABLED' && <Enable connection={connection} />}
        </Step>
      </Stack>
      {!isSaml && <Steps preset={connection.preset} step="note" />}
    </Section>
  );
}

function RedirectUri({ connection: { preset, callback } }: { connection: Connection }) {
  const { field } = providerOf(preset);
  return (
    <>
      <p>{rich('There, enter this address as <strong>{field}</strong>:', { field })}</p>
      <CopyField label={t('Redirect URI')} value={callback.redirectUri ?? ''} />
      <Steps preset={preset} step="after" />
    </>
  );
}

function Step({ number, isDone, children }: { number: number; isDone: boolean; children: ReactNode }) {
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start">
      <ThemeIcon
        size="1.75rem"
        radius="xl"
        variant="light"
        color={isDone ? 'good' : 'neutral'}
        fz="xs"
        fw={600}
        {...(isDone ? { role: 'img', 'aria-label': t('Done') } : {})}
      >
        {isDone ? <Icon name="check" size={16} /> : number}
      </ThemeIcon>
      <Stack flex={1} miw={0} gap="sm" maw="46rem" align="stretch">
        {children}
      </Stack>
    </Group>
  );
}

function ProviderValues({ connection, mayChange }: ConnectionPartProps) {
  const saved = useMemo(() => providerValuesOf(connection), [connection]);
  const form = useConnectionForm(connection, mayChange, saved, (edits) => ({ oidc: providerInput(edits) }));
  const isBlocked = needsSecret(connection, form.values);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBlocked) void form.save();
      }}
    >
      <Stack gap="sm">
        <ProviderFields connection={connection} form={form} />
        <FormError failure={form.failure} except={['issuer', 'clientId', 'clientSecret']} />
        {mayChange && (
          <div>
            <Button type="submit" loading={form.busy} disabled={form.changed.length === 0 || isBlocked}>
              {t('Save')}
            </Button>
          </div>
        )}
      </Stack>
    </form>
  );
}

function enabling({ name, organization }: Connection): string {
  return organization
    ? t('Enable it: people of {organization} can then sign in with {name}.', { organization: organization.name, name })
    : t('Enable it: the sign-in page then shows “Continue with {name}”.', { name });
}

function Enable({ connection }: { connection: Connection }) {
  const enabling = useAction(SetConnectionState, stale, t('Connection enabled'));
  const [dialog, { confirm }] = useDialog();
  const input = { id: connection.id, state: 'ENABLED' } as const;
  return (
    <>
      <div>
        <Button
          variant={connection.state === 'DRAFT' ? 'default' : 'filled'}
          disabled={!isComplete(connection)}
          loading={enabling.busy}
          onClick={() => (connection.state === 'DRAFT' ? confirm(untested(connection)) : void enabling.run({ input }))}
        >
          {t('Enable connection')}
        </Button>
      </div>
      <FormError failure={enabling.failure} />
      {dialog}
    </>
  );
}

const untested = ({ id, name }: Connection): Confirmation => ({
  title: t('Enable {name} without a test?', { name }),
  effect: <p>{t('The sign-in page offers it now. If a value is wrong, these sign-ins fail.')}</p>,
  verb: t('Enable connection'),
  isHarmless: true,
  request: request(SetConnectionState, { input: { id, state: 'ENABLED' } }),
  invalidates: stale,
  done: t('Connection enabled'),
});
