import { Badge, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import { ExperienceVersions, type ExperienceVersionsQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { Confirm } from '../ui/feedback/confirm.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Diff } from '../ui/forms/save-bar.tsx';
import rows from '../ui/lists/rows.module.css';
import { Time } from '../ui/time.tsx';
import { type Content, changesBetween, contentOf } from './content.ts';
import type { ExperienceDraft } from './use-experience-draft.ts';

const plain: Content = { displayName: '', accent: '', logoId: '', darkLogoId: '', texts: {} };

interface VersionsProps {
  projectId: string;
  draft: ExperienceDraft;
  published: Content;
}

interface Chosen {
  /** 0: the default look. */
  number: number;
  content: Content;
}

/** Published versions, newest first; each can be restored. */
export function Versions({ projectId, draft, published }: VersionsProps) {
  const { data, failure, reload } = useQuery(ExperienceVersions, { projectId });
  const [chosen, setChosen] = useState<Chosen>();
  if (failure && !data) return <LoadError failure={failure} subject={t('versions')} retry={reload} />;
  if (!data) return <LinesSkeleton lines={2} flush />;
  const versions = data.experienceVersions.edges.map(({ node }) => node);
  if (versions.length === 0) {
    return (
      <Text c="dimmed" px={{ base: 'md', sm: 'lg' }} pb="lg">
        {t('Nothing published yet: the default look is live.')}
      </Text>
    );
  }
  return (
    <>
      <ol className={rows.rows}>
        {versions.map((version, index) => (
          <Group key={version.id} component="li" gap="0.5rem 0.75rem">
            <Summary version={version} isLive={index === 0} />
            {draft.mayChange && index > 0 && (
              <RevertButton
                aria-label={t('Revert to version {number}', { number: version.number })}
                onClick={() => setChosen({ number: version.number, content: contentOf(version.content) })}
              />
            )}
          </Group>
        ))}
        <Group component="li">
          <strong>{t('Default look')}</strong>
          {draft.mayChange && changesBetween(published, plain).length > 0 && (
            <RevertButton onClick={() => setChosen({ number: 0, content: plain })} />
          )}
        </Group>
      </ol>
      <RevertDialog draft={draft} published={published} chosen={chosen} onClose={() => setChosen(undefined)} />
    </>
  );
}

type Version = ExperienceVersionsQuery['experienceVersions']['edges'][number]['node'];

function Summary({ version, isLive }: { version: Version; isLive: boolean }) {
  const { number, publishedAt, publishedBy, revertedTo } = version;
  return (
    <>
      <strong>{t('Version {number}', { number })}</strong> {isLive && <Badge color="good">{t('Live')}</Badge>}
      <Text span c="dimmed">
        {rich('<time></time> by {admin}', {
          time: () => <Time at={publishedAt} />,
          admin: publishedBy ?? t('an unknown admin'),
        })}
        {revertedTo != null &&
          `, ${revertedTo === 0 ? t('default look') : t('reverted to version {number}', { number: revertedTo })}`}
      </Text>
    </>
  );
}

function RevertButton(props: { 'aria-label'?: string; onClick(): void }) {
  return (
    <SecondaryButton ml="auto" size="compact-sm" {...props}>
      {t('Revert')}
    </SecondaryButton>
  );
}

interface RevertDialogProps extends Pick<VersionsProps, 'draft' | 'published'> {
  /** Absent: the dialog is closed. */
  chosen: Chosen | undefined;
  onClose(): void;
}

function RevertDialog({ draft, published, chosen, onClose }: RevertDialogProps) {
  const number = chosen?.number;
  const changes = chosen ? changesBetween(published, chosen.content) : [];
  return (
    <Confirm
      opened={chosen !== undefined}
      title={number === 0 ? t('Revert to the default look?') : t('Revert to version {number}?', { number })}
      verb={t('Revert and publish')}
      busy={draft.busy}
      failure={undefined}
      onClose={onClose}
      onConfirm={async () => {
        if (chosen) await draft.revert(chosen.number);
        onClose();
      }}
    >
      <p>{t('Live from the next page load. The current version stays in this list, and your draft stays.')}</p>
      {changes.length > 0 ? (
        <Diff
          changes={changes}
          title={t('{count, plural, one {# change} other {# changes}}', { count: changes.length })}
        />
      ) : (
        <p>{t('No difference from the live version.')}</p>
      )}
    </Confirm>
  );
}
