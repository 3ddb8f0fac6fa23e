import { Alert } from '@mantine/core';
import { t } from '../../language/language.ts';

/** Explains disabled fields to viewers. */
export function ViewerNotice({ project }: { project: { name: string } }) {
  return (
    <Alert color="neutral">{t('You are a viewer of {name}: this page is read-only.', { name: project.name })}</Alert>
  );
}
