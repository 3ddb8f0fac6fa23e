import { Stack, Text, ThemeIcon } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from '../icon.tsx';

interface EmptyProps {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

/** Empty state: one sentence and one action. */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <Stack align="center" gap="xs" px="lg" py="3.5rem" ta="center">
      <ThemeIcon size="3rem" radius="lg" variant="light" color="neutral">
        <Icon name={icon} size={24} />
      </ThemeIcon>
      <Text component="h3" fz="1rem" fw={600} mt="xs">
        {title}
      </Text>
      {children && (
        <Text c="dimmed" maw="30rem" mb="sm">
          {children}
        </Text>
      )}
      {action}
    </Stack>
  );
}
