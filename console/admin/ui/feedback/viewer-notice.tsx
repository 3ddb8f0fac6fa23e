import { Alert } from '@mantine/core';

/** Explains disabled fields to viewers. */
export function ViewerNotice({ project }: { project: { name: string } }) {
  return <Alert color="neutral">You are a viewer of {project.name}: this page is read-only.</Alert>;
}
