import { NativeSelect, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../ui/icon.tsx';
import { PageFrame, type Theme } from '../ui/page-frame.tsx';
import { type Language, languages } from './content.ts';
import styles from './preview.module.css';

const steps = {
  'signin/address': 'Address',
  'signin/known': 'Known device',
  'signin/code': 'Code',
  'signin/error': 'Wrong code',
  'signin/choose': 'Choice of a second factor',
  'signin/phone': 'Phone number',
  'signin/enrol': 'Authenticator app, set up',
  'signin/app': 'Authenticator app',
  'signin/recovery': 'Recovery codes',
  'signin/done': 'Signed in',
  'signin/ended': 'Sign-in that ended',
  error: 'Error page',
  'confirm-logout': 'Sign out?',
  'signed-out': 'Signed out',
} as const;

interface PreviewProps {
  projectId: string;
  /** The application whose sign-in it is. */
  app: string;
  /** Another one loads it again. */
  version: number;
  language: Language;
  onLanguage(language: Language): void;
}

/** The hosted pages as they are, with the draft: the page itself in a frame, which nobody can sign in by. */
export function Preview({ projectId, app, version, language, onLanguage }: PreviewProps) {
  const [step, setStep] = useState<string>('signin/address');
  const [theme, setTheme] = useState<Theme>('light');
  const [width, setWidth] = useState('390');
  const [look, setLook] = useState('draft');
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
  const name = steps[step as keyof typeof steps];
  return (
    <section className={styles.preview} aria-label="Preview">
      <div className={styles.tools}>
        <NativeSelect
          aria-label="Step"
          data={Object.entries(steps).map(([value, label]) => ({ value, label }))}
          value={step}
          onChange={(event) => setStep(event.currentTarget.value)}
        />
        <NativeSelect
          aria-label="Language of the preview"
          data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
          value={language}
          onChange={(event) => onLanguage(event.currentTarget.value as Language)}
        />
        <SegmentedControl
          aria-label="Theme"
          size="xs"
          data={[
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
          value={theme}
          onChange={(value) => setTheme(value as Theme)}
        />
        <SegmentedControl
          aria-label="Width in pixels"
          size="xs"
          data={[
            { value: '390', label: '390' },
            { value: '1440', label: '1440' },
          ]}
          value={width}
          onChange={setWidth}
        />
        <SegmentedControl
          aria-label="What is shown"
          size="xs"
          data={[
            { value: 'draft', label: 'Draft' },
            { value: 'published', label: 'Published' },
          ]}
          value={look}
          onChange={setLook}
        />
      </div>
      <PageFrame address={address} theme={theme} width={Number(width)} title={`${name}, as people see it`} />
      <p className={styles.foot}>
        The page itself, with made-up people and codes.{' '}
        <a href={address} target="_blank" rel="noreferrer">
          Open it in a tab to try it <Icon name="external" size={14} />
        </a>
      </p>
    </section>
  );
}
