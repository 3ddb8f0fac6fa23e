import { Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { t } from '../language/language.ts';
import { Icon } from '../ui/icon.tsx';
import { Choice, type Look, LookChoice, Select, ThemeChoice } from '../ui/layout/page-choices.tsx';
import { PageFrame, type Theme } from '../ui/layout/page-frame.tsx';
import { type Language, languages } from './content.ts';

const steps = {
  'signin/address': t('Address'),
  'signin/known': t('Known device'),
  'signin/code': t('Code'),
  'signin/error': t('Wrong code'),
  'signin/choose': t('Choice of a second factor'),
  'signin/phone': t('Phone number'),
  'signin/enrol': t('Authenticator app, set up'),
  'signin/app': t('Authenticator app'),
  'signin/passkey': t('Passkey'),
  'signin/new-passkey': t('Passkey required'),
  'signin/recovery': t('Recovery codes'),
  'signin/offer': t('Passkey offer'),
  'signin/done': t('Signed in'),
  'signin/ended': t('Sign-in that ended'),
  error: t('Error page'),
  'confirm-logout': t('Sign out?'),
  'signed-out': t('Signed out'),
} as const;
type Step = keyof typeof steps;

const widths = { 390: '390', 1440: '1440' } as const;
type Width = '390' | '1440';

interface PreviewProps {
  projectId: string;
  /** Client ID. */
  app: string;
  /** A new version reloads the preview. */
  version: number;
  language: Language;
  onLanguage(language: Language): void;
}

/** The hosted pages with the draft, in an iframe; sign-in is disabled. */
export function Preview({ projectId, app, version, language, onLanguage }: PreviewProps) {
  const [step, setStep] = useState<Step>('signin/address');
  const [theme, setTheme] = useState<Theme>('light');
  const [width, setWidth] = useState<Width>('390');
  const [look, setLook] = useState<Look>('draft');
  const [page = '', stepName = ''] = step.split('/');
  const query = new URLSearchParams({
    project: projectId,
    lang: language,
    app,
    look,
    step: stepName,
    v: String(version),
  });
  const address = `/admin/preview/${page}?${query}`;
  return (
    <Stack component="section" gap="sm" aria-label={t('Preview')}>
      <Group gap="xs">
        <Select label={t('Step')} options={steps} value={step} onChange={setStep} />
        <Select label={t('Language of the preview')} options={languages} value={language} onChange={onLanguage} />
        <ThemeChoice value={theme} onChange={setTheme} />
        <Choice label={t('Width in pixels')} options={widths} value={width} onChange={setWidth} />
        <LookChoice value={look} onChange={setLook} />
      </Group>
      <PageFrame
        address={address}
        theme={theme}
        width={Number(width)}
        title={t('Preview: {step}', { step: steps[step] })}
      />
      <Text fz="xs" c="dimmed">
        {t('The real page with sample data.')}{' '}
        <a href={address} target="_blank" rel="noreferrer">
          {t('Open in a new tab')} <Icon name="external" size={14} />
        </a>
      </Text>
    </Stack>
  );
}
