import { Chip, Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { useState } from 'react';
import { t } from '../language/language.ts';
import { SecondaryButton } from '../ui/buttons.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { Section } from '../ui/layout/page.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { IssueToken } from './issue-token.tsx';
import { providers } from './providers.ts';
import styles from './setup-steps.module.css';

interface SetupStepsProps {
  projectId: string;
  address: string;
  /** The token issued on this page, until the page closes. */
  token: string | undefined;
  mayChange: boolean;
  /** A directory is already connected. */
  isConnected: boolean;
  onIssued(token: string): void;
}

/** Setup instructions per directory, with this project's values to copy. */
export function SetupSteps({ projectId, address, token, mayChange, isConnected, onIssued }: SetupStepsProps) {
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
        {provider.steps.map(({ text, values = [], settings = [] }, index) => (
          <Group key={text} component="li" gap="sm" wrap="nowrap" align="flex-start">
            <ThemeIcon size="1.75rem" radius="xl" variant="light" color="neutral" fz="xs" fw={600}>
              {index + 1}
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
              {values.includes('token') && !token && mayChange && (
                <div className={styles.token}>
                  <IssueToken projectId={projectId} suggestedName={provider.name} onIssued={onIssued} />
                </div>
              )}
              {settings.length > 0 && (
                <Facts
                  labelWidth="16rem"
                  facts={settings.map(([name, value]) => [name, <code key={name}>{value}</code>])}
                />
              )}
            </Stack>
          </Group>
        ))}
      </Stack>
      {provider.note && <Text c="dimmed">{provider.note}</Text>}
    </Section>
  );
}
