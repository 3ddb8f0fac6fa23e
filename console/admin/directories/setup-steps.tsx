import { Chip, Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { t } from '../language/language.ts';
import { SecondaryButton } from '../ui/buttons.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { Section } from '../ui/layout/page.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { IssueToken } from './issue-token.tsx';
import type { DirectoryOwner } from './owner.ts';
import { type ProviderStep, providers } from './providers.ts';
import styles from './setup-steps.module.css';

interface SetupStepsProps {
  owner: DirectoryOwner;
  address: string;
  /** The token issued on this page, until the page closes. */
  token: string | undefined;
  mayChange: boolean;
  /** A directory is already connected. */
  isConnected: boolean;
  onIssued(token: string): void;
}

/** Setup instructions per directory, with this project's values to copy. */
export function SetupSteps({ owner, address, token, mayChange, isConnected, onIssued }: SetupStepsProps) {
  const [chosen, setChosen] = useState('okta');
  const [isShown, setShown] = useState(false);
  const provider = providers.find(({ id }) => id === chosen) ?? providers[0];
  if (!provider) return null;
  if (isConnected && !isShown) {
    return (
      <Section
        title={t('Connect another directory')}
        lead={t('Steps for Okta, Entra ID, OneLogin, JumpCloud and others')}
        actions={<SecondaryButton onClick={() => setShown(true)}>{t('Show the steps')}</SecondaryButton>}
      />
    );
  }
  const issue = mayChange && <IssueToken owner={owner} suggestedName={provider.name} onIssued={onIssued} />;
  return (
    <Section
      title={isConnected ? t('Connect another directory') : t('Connect a directory')}
      lead={t('Follow the steps in your directory. Nothing changes until it connects.')}
    >
      <Chip.Group value={chosen} onChange={setChosen}>
        <Group gap="xs" role="radiogroup" aria-label={t('Your directory')}>
          {providers.map(({ id, name }) => (
            <Chip key={id} value={id} variant="outline" radius="md">
              {name}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <Stack component="ol" gap="1.25rem">
        {provider.steps.map((step, index) => (
          <Step key={step.text} step={step} number={index + 1} address={address} token={token} issue={issue} />
        ))}
      </Stack>
      {provider.note && <Text c="dimmed">{provider.note}</Text>}
    </Section>
  );
}

interface StepProps {
  step: ProviderStep;
  number: number;
  address: string;
  token: string | undefined;
  /** Issues a token. */
  issue: ReactNode;
}

function Step({ step: { text, values = [], settings = [] }, number, address, token, issue }: StepProps) {
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start">
      <ThemeIcon size="1.75rem" radius="xl" variant="light" color="neutral" fz="xs" fw={600}>
        {number}
      </ThemeIcon>
      <Stack flex={1} miw={0} gap="sm" maw="46rem">
        <p>{text}</p>
        {values.includes('address') && <CopyField label={t('SCIM address')} value={address} />}
        {values.includes('token') && token && (
          <CopyField
            label={t('Token')}
            value={token}
            hint={t('Shown until you leave this page; only a hash is stored.')}
          />
        )}
        {values.includes('token') && !token && issue && <div className={styles.token}>{issue}</div>}
        {settings.length > 0 && (
          <Facts labelWidth="16rem" facts={settings.map(([name, value]) => [name, <code key={name}>{value}</code>])} />
        )}
      </Stack>
    </Group>
  );
}
