import { Alert, Group, SimpleGrid, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { useAccess } from '../access.tsx';
import { useMutation, useQuery } from '../api.ts';
import { type Language, languages } from '../experience/content.ts';
import type { Failure } from '../failure.ts';
import { MessagePreview, type MessageTemplate, TestSender, type TestSenderMutation } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { type Project, useProjectPath } from '../projects/project.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Look, LookChoice, Select, ThemeChoice } from '../ui/layout/page-choices.tsx';
import { PageFrame, type Theme } from '../ui/layout/page-frame.tsx';
import { templateNames } from './labels.ts';
import styles from './messages.module.css';
import { Stages } from './stages.tsx';

/** Message templates in each language, as HTML and as text. */
export function Templates({ project }: { project: Project }) {
  const { mayChange } = useAccess(project.id);
  const [template, setTemplate] = useState<MessageTemplate>('SIGN_IN_CODE');
  const [language, setLanguage] = useState<Language>('en');
  const [look, setLook] = useState<Look>('published');
  const [theme, setTheme] = useState<Theme>('light');
  const [outcome, setOutcome] = useState<TestSenderMutation['testSender']>();
  const [fault, setFault] = useState<Failure>();
  const [test, busy] = useMutation(TestSender, []);
  const send = async () => {
    setOutcome(undefined);
    const { data: sent, failure: refused } = await test({
      input: { projectId: project.id, channel: 'MAIL', template, locale: language },
    });
    setFault(refused);
    setOutcome(sent?.testSender);
  };
  return (
    <>
      <Group gap="xs">
        <Select label={t('Message')} options={templateNames} value={template} onChange={setTemplate} />
        <Select label={t('Language')} options={languages} value={language} onChange={setLanguage} />
        <LookChoice value={look} onChange={setLook} />
        <ThemeChoice value={theme} onChange={setTheme} />
        {mayChange && (
          <SecondaryButton loading={busy} onClick={() => void send()} ml="auto">
            {t('Send test')}
          </SecondaryButton>
        )}
      </Group>
      <FormError failure={fault} />
      {outcome && (
        <Alert
          color={outcome.passed ? 'good' : 'bad'}
          role={outcome.passed ? 'status' : 'alert'}
          title={outcome.passed ? t('Sent to {to}', { to: outcome.to }) : t('Not sent')}
        >
          <Stages stages={outcome.stages} />
        </Alert>
      )}
      <Preview {...{ project, template, language, look, theme }} />
    </>
  );
}

interface PreviewProps {
  project: Project;
  template: MessageTemplate;
  language: Language;
  look: Look;
  theme: Theme;
}

function Preview({ project, template, language, look, theme }: PreviewProps) {
  const path = useProjectPath();
  const { data, failure, reload } = useQuery(
    MessagePreview,
    { projectId: project.id, template, locale: language, draft: look === 'draft' },
    { keep: true },
  );
  const name = template.toLowerCase().replaceAll('_', '-');
  const query = new URLSearchParams({ project: project.id, template: name, lang: language, look });
  const preview = data?.messagePreview;
  if (failure && !preview) return <LoadError failure={failure} subject={t('message')} retry={reload} />;
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg" className={styles.tops ?? ''}>
      <Section title={preview?.subject ?? ' '} lead={t('HTML part')}>
        <PageFrame
          address={`/admin/preview/mail?${query}`}
          theme={theme}
          width={560}
          minHeight={240}
          title={t('The mail “{subject}”', { subject: preview?.subject ?? '' })}
        />
      </Section>
      <Stack gap="lg">
        <Section title={t('Plain text')} lead={t('Text part')}>
          {preview ? <pre className={styles.text}>{preview.text}</pre> : <LinesSkeleton />}
        </Section>
        {preview?.sms && (
          <Section title={t('Text message')} lead={t('SMS version')}>
            <pre className={styles.text}>{preview.sms}</pre>
          </Section>
        )}
        <Section title={t('Customize')}>
          <p>
            {rich(
              'Change name, color, subjects and first sentences under <link>Branding</link>. Codes in previews are examples.',
              { link: (text) => <Link to={path('experience')}>{text}</Link> },
            )}
          </p>
        </Section>
      </Stack>
    </SimpleGrid>
  );
}
