import { Alert, Badge, Button, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useAccess } from '../access.tsx';
import { part, usePrefetch, useQuery } from '../api.ts';
import {
  ExperienceOf,
  type ExperienceOfQuery,
  ExperiencePage,
  ExperienceVersions,
  SaveExperienceDraft,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { type Project, useProject } from '../projects/project.tsx';
import { ShowGraphql } from '../ui/code/show-graphql.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { optionsOf } from '../ui/forms/options.ts';
import { type Change, ChangesBar } from '../ui/forms/save-bar.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { ColorField } from './color-field.tsx';
import { changesBetween, contentOf, inputOf, type Language, languages } from './content.ts';
import styles from './experience-page.module.css';
import { LogoField } from './logo-field.tsx';
import { Preview } from './preview.tsx';
import { MailTexts, PageTexts } from './texts-form.tsx';
import { type ExperienceDraft, useExperienceDraft } from './use-experience-draft.ts';
import { Versions } from './versions.tsx';

/** Branding of the hosted pages and mails of a project. */
export function Component() {
  const project = useProject();
  usePrefetch(ExperiencePage, { projectId: project.id }, [
    part(ExperienceOf, { projectId: project.id }),
    part(ExperienceVersions, { projectId: project.id }),
  ]);
  const { data, failure, reload } = useQuery(ExperienceOf, { projectId: project.id });
  if (!data)
    return failure ? <LoadError failure={failure} subject={t('experience')} retry={reload} /> : <PageSkeleton />;
  return <Experience project={project} data={data} />;
}

function Experience({ project, data }: { project: Project; data: ExperienceOfQuery }) {
  const { experience } = data;
  const { mayChange } = useAccess(project.id);
  const draft = useExperienceDraft(project.id, experience);
  const [language, setLanguage] = useState<Language>('en');
  const published = useMemo(() => contentOf(experience.published), [experience.published]);
  const changes = changesBetween(published, draft.content);
  const app = data.clients.edges[0]?.node.name ?? project.name;
  const { content, change, faultOf } = draft;
  const form = { draft, experience, language, disabled: !mayChange };
  return (
    <Page
      title={t('Branding')}
      lead={t('Name, logo, color and texts of sign-in pages and mails. Changes are live once published.')}
      badges={<DraftBadge draft={draft} isLive={experience.publishedNumber > 0} changes={changes} />}
    >
      {!mayChange && <ViewerNotice project={project} />}
      {draft.failure?.code === 'conflict' && (
        <Alert title={t('Another admin changed this draft')}>
          {t('Your latest edits are not saved.')}{' '}
          <Button variant="default" size="compact-sm" onClick={() => location.reload()}>
            {t('Load their draft')}
          </Button>
        </Alert>
      )}
      <div className={styles.columns}>
        <Stack gap="lg">
          <Section title={t('Name and color')}>
            <TextInput
              label={t('Display name')}
              description={t('Beside the application’s name. Empty: the project’s, {name}.', { name: project.name })}
              placeholder={project.name}
              value={content.displayName}
              maxLength={100}
              disabled={!mayChange}
              error={faultOf('displayName')}
              onChange={(event) => change({ displayName: event.currentTarget.value })}
            />
            <ColorField
              color={content.accent}
              disabled={!mayChange}
              error={faultOf('accent')}
              onChange={(accent) => change({ accent })}
            />
          </Section>
          <Section
            title={t('Logo')}
            lead={t('PNG, JPEG or WebP, up to 256 KB. Shown 40 pixels high; twice that is sharp everywhere.')}
          >
            <LogoField
              projectId={project.id}
              label={t('Logo')}
              hint={t('Default: the first letter of the name.')}
              ground="light"
              logoId={content.logoId}
              disabled={!mayChange}
              onChange={(logoId) => change({ logoId })}
            />
            <LogoField
              projectId={project.id}
              label={t('Dark mode logo')}
              hint={t('Only needed if the logo is invisible on black.')}
              ground="dark"
              logoId={content.darkLogoId}
              disabled={!mayChange}
              onChange={(darkLogoId) => change({ darkLogoId })}
            />
          </Section>
          <Section
            title={t('Texts and links')}
            lead={t('Empty fields use the default text. Links and footer fall back to English.')}
            actions={
              <NativeSelect
                aria-label={t('Language of the texts')}
                data={optionsOf(languages)}
                value={language}
                onChange={(event) => setLanguage(event.currentTarget.value as Language)}
              />
            }
          >
            <PageTexts {...form} />
          </Section>
          <Section
            title={t('Mails')}
            lead={t('Subject and first sentence. Codes, warnings and security notices cannot be changed.')}
          >
            <MailTexts {...form} />
          </Section>
        </Stack>
        <div className={styles.side}>
          <Preview
            projectId={project.id}
            app={app}
            version={draft.version + experience.publishedNumber * 1e6}
            language={language}
            onLanguage={setLanguage}
          />
        </div>
      </div>
      <Section flush title={t('Versions')} lead={t('Published versions. Reverting publishes a version again.')}>
        <Versions projectId={project.id} draft={draft} published={published} mayChange={mayChange} />
      </Section>
      {changes.length > 0 && (
        <div>
          <ShowGraphql
            operation={SaveExperienceDraft}
            variables={{ input: { projectId: project.id, expectedVersion: draft.version, ...inputOf(content) } }}
          />
        </div>
      )}
      {mayChange && changes.length > 0 && <PublishBar draft={draft} changes={changes} />}
    </Page>
  );
}

interface DraftProps {
  draft: ExperienceDraft;
  changes: readonly Change[];
}

function DraftBadge({ draft, isLive, changes }: DraftProps & { isLive: boolean }) {
  return (
    <span role="status">
      {draft.state === 'refused' ? (
        <Badge color="bad">{t('Draft not saved')}</Badge>
      ) : draft.state !== 'saved' ? (
        <Badge>{t('Saving the draft…')}</Badge>
      ) : changes.length > 0 ? (
        <Badge color="note">{t('Draft saved, not published')}</Badge>
      ) : (
        <Badge color={isLive ? 'good' : 'neutral'}>{isLive ? t('Live') : t('Default look')}</Badge>
      )}
    </span>
  );
}

function PublishBar({ draft, changes }: DraftProps) {
  return (
    <ChangesBar
      label={t('Draft')}
      title={t('{count, plural, one {# change} other {# changes}} to publish', { count: changes.length })}
      changes={changes}
      failure={draft.failure?.field === undefined ? draft.failure : undefined}
      consequence={t('Live from the next page load. You can revert to the current version.')}
    >
      <Button variant="default" onClick={() => void draft.discard()} disabled={draft.busy}>
        {t('Discard draft')}
      </Button>
      <Button onClick={() => void draft.publish()} loading={draft.busy} disabled={draft.state === 'refused'}>
        {t('Publish')}
      </Button>
    </ChangesBar>
  );
}
