import { NativeSelect, SegmentedControl } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Icon } from '../ui/icon.tsx';
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

type Theme = 'light' | 'dark';

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
      <Frame address={address} theme={theme} width={Number(width)} title={`${name}, as people see it`} />
      <p className={styles.foot}>
        The page itself, with made-up people and codes.{' '}
        <a href={address} target="_blank" rel="noreferrer">
          Open it in a tab to try it <Icon name="external" size={14} />
        </a>
      </p>
    </section>
  );
}

/** A page of ours at its real width, made as small as there is room. */
export function Frame({
  address,
  theme,
  width,
  title,
  minHeight = 600,
}: {
  address: string;
  theme: Theme;
  width: number;
  title: string;
  minHeight?: number;
}) {
  const frame = useRef<HTMLIFrameElement>(null);
  const room = useRef<HTMLDivElement>(null);
  const [scale, setScale] = useState(1);
  const [height, setHeight] = useState(minHeight);
  const [shown, setShown] = useState<string>();

  useEffect(() => {
    const element = room.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) =>
      setScale(Math.min(1, (entry?.contentRect.width ?? width) / width)),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [width]);

  // The page brings both themes; which one it shows is the system's choice, and here the reader's.
  useEffect(() => {
    const page = frame.current?.contentDocument;
    if (page && shown !== undefined) wear(page, theme);
  }, [theme, shown]);

  const loaded = () => {
    const page = frame.current?.contentDocument;
    if (!page) return;
    wear(page, theme);
    setShown(address);
    const measure = () => setHeight(Math.max(minHeight, page.querySelector('body')?.scrollHeight ?? 0));
    measure();
    // Its script shows the step, its pictures come: the page grows.
    const observer = new ResizeObserver(measure);
    for (const part of page.querySelectorAll('.frame, body > div')) observer.observe(part);
  };
  return (
    <div ref={room} className={styles.room} data-theme={theme} aria-busy={shown !== address}>
      <div
        className={styles.paper}
        style={{ width: width * scale, height: height * scale }}
        data-stale={shown !== address || undefined}
      >
        <iframe
          ref={frame}
          title={title}
          src={address}
          onLoad={loaded}
          inert
          tabIndex={-1}
          style={{ width, height, scale: String(scale) }}
        />
      </div>
    </div>
  );
}

/** Has every rule and picture of the page answer for one theme, whatever the system has. */
function wear(page: Document, theme: Theme): void {
  page.documentElement.style.colorScheme = theme;
  for (const sheet of page.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof (page.defaultView as Window & typeof globalThis).CSSMediaRule)) continue;
      const isTheme = ruleThemes.get(rule) ?? /prefers-color-scheme:\s*(dark|light)/.exec(rule.media.mediaText)?.[1];
      if (isTheme === undefined) continue;
      ruleThemes.set(rule, isTheme);
      rule.media.mediaText = isTheme === theme ? 'all' : 'not all';
    }
  }
  for (const source of page.querySelectorAll<HTMLSourceElement>('picture > source[media]')) {
    source.media = theme === 'dark' ? 'all' : 'not all';
  }
}

const ruleThemes = new WeakMap<CSSRule, string>();
