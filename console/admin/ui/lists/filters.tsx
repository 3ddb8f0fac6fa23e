import { Button, CloseButton, Group, Popover, Stack, Text } from '@mantine/core';
import { t } from '../../language/language.ts';
import { SecondaryButton } from '../buttons.tsx';
import { Icon } from '../icon.tsx';
import styles from './filters.module.css';
import { Filter, type FilterProps, useListParams } from './list-bar.tsx';

/** A button that opens the filters; chips show the active ones. */
export function Filters({ filters }: { filters: readonly FilterProps[] }) {
  const { get, set } = useListParams();
  const active = activeFilters(filters, get);
  return (
    <>
      <Popover position="bottom-start" width="min(20rem, calc(100vw - 2rem))" shadow="md" trapFocus returnFocus>
        <Popover.Target>
          <SecondaryButton leftSection={<Icon name="filter" size={16} />}>{t('Filters')}</SecondaryButton>
        </Popover.Target>
        <Popover.Dropdown aria-label={t('Filters')}>
          <Stack gap="sm">
            {filters.map((filter) => (
              <Filter key={filter.name} {...filter} isLabelled />
            ))}
          </Stack>
        </Popover.Dropdown>
      </Popover>
      {active.map(({ name, label, value }) => (
        <FilterChip key={name} label={label} value={value} onRemove={() => set({ [name]: undefined })} />
      ))}
      {active.length > 1 && (
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={() => set(Object.fromEntries(active.map(({ name }) => [name, undefined])))}
        >
          {t('Clear all')}
        </Button>
      )}
    </>
  );
}

/** The active filters, with the name of their value. */
export function activeFilters(
  filters: readonly FilterProps[],
  get: (name: string) => string | undefined,
): { name: string; label: string; value: string }[] {
  return filters.flatMap(({ name, label, options }) => {
    const chosen = get(name);
    const option = options.find(({ value }) => value !== '' && value === chosen);
    return option ? [{ name, label, value: option.label }] : [];
  });
}

/** An active filter, with a button that removes it. */
export function FilterChip({ label, value, onRemove }: { label: string; value: string; onRemove(): void }) {
  return (
    <Group component="span" gap={4} wrap="nowrap" className={styles.chip ?? ''}>
      {label}:{' '}
      <Text span truncate fw={600} maw="14rem">
        {value}
      </Text>
      <CloseButton size="xs" aria-label={t('Remove the filter {label}', { label })} onClick={onRemove} />
    </Group>
  );
}
