import { Badge, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import { ExperienceVersions } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { Confirm } from '../ui/feedback/confirm.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Diff } from '../ui/forms/save-bar.tsx';
import rows from '../ui/lists/rows.module.css';
import { Time } from '../ui/time.tsx';
import { type Content, changesBetween, contentOf } from './content.ts';
import type { ExperienceDraft } from './use-experience-draft.ts';

const plain: Content = { displayName: '', accent: '', logoId: '', darkLogoId: '', texts: {} };

/** Published versions, newest first; each can be restored. */
export function Versions({
  projectId,
  draft,
  published,
  mayChange,
}: {
  projectId: string;
  draft: ExperienceDraft;
  published: Content;
  mayChange: boolean;
}) {
  const { data, failure, reload } = useQuery(ExperienceVersions, { projectId });
  const [asked, setAsked] = useState<{ number: number; content: Content }>();
  if (!data)
    return failure ? (
      <LoadError failure={failure} subject={t('versions')} retry={reload} />
    ) : (
      <LinesSkeleton lines={2} flush />
    );
  const versions = data.experienceVersions.edges.map(({ node }) => node);
  if (versions.length === 0) {
    return (
      <Text c="dimmed" px="lg" pb="lg">
        {t('Nothing published yet: the default look is live.')}
      </Text>
    );
  }
  const changes = asked ? changesBetween(published, asked.content) : [];
  return (
    <>
      <ol className={rows.rows}>
        {versions.map(({ id, number, publishedAt, publishedBy, revertedTo, content }, index) => (
          <Group key={id} component="li" gap="0.5rem 0.75rem">
            <strong>{t('Version {number}', { number })}</strong>{' '}
            {index === 0 && <Badge color="good">{t('Live')}</Badge>}
            <Text span c="dimmed">
              {rich('<time></time> by {admin}', {
                time: () => <Time at={publishedAt} />,
                admin: publishedBy ?? t('an unknown admin'),
              })}
              {revertedTo != null &&
                `, ${revertedTo === 0 ? t('default look') : t('reverted to version {number}', { number: revertedTo })}`}
            </Text>
            {mayChange && index > 0 && (
              <Button
                ml="auto"
                variant="default"
                size="compact-sm"
                aria-label={t('Revert to version {number}', { number })}
                onClick={() => setAsked({ number, content: contentOf(content) })}
              >
                {t('Revert')}
              </Button>
            )}
          </Group>
        ))}
        <Group component="li">
          <strong>{t('Default look')}</strong>
          {mayChange && changesBetween(published, plain).length > 0 && (
            <Button
              ml="auto"
              variant="default"
              size="compact-sm"
              onClick={() => setAsked({ number: 0, content: plain })}
            >
              {t('Revert')}
            </Button>
          )}
        </Group>
      </ol>
      <Confirm
        opened={asked !== undefined}
        title={
          asked?.number === 0
            ? t('Revert to the default look?')
            : t('Revert to version {number}?', { number: asked?.number })
        }
        verb={t('Revert and publish')}
        busy={draft.busy}
        failure={undefined}
        onClose={() => setAsked(undefined)}
        onConfirm={async () => {
          if (asked) await draft.revert(asked.number);
          setAsked(undefined);
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
    </>
  );
}
