import { Skeleton, Stack } from '@mantine/core';
import { t } from '../../language/language.ts';

const busy = { role: 'status', 'aria-busy': true, 'aria-label': t('Loading') } as const;

export function PageSkeleton() {
  return (
    <Stack {...busy} gap="lg" maw="75rem" mx="auto">
      <Skeleton h="2rem" w="min(14rem, 60%)" />
      <Skeleton h="20rem" radius="lg" />
    </Stack>
  );
}

/** Skeleton of a form or text. @param flush in a section without padding */
export function LinesSkeleton({ lines = 4, flush = false }: { lines?: number; flush?: boolean }) {
  return (
    <Stack {...busy} gap="md" p={flush ? 'lg' : 0}>
      {Array.from({ length: lines }, (_, index) => (
        <Skeleton key={index} h="1.25rem" w={index % 2 === 0 ? undefined : '60%'} />
      ))}
    </Stack>
  );
}
