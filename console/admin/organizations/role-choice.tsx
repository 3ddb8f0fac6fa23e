import { MultiSelect } from '@mantine/core';
import { useQuery } from '../api.ts';
import { OrganizationRoles } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useOutline } from '../projects/project.tsx';

interface RoleChoiceProps {
  label: string;
  description: string;
  /** Keys of roles. */
  value: string[];
  onChange(keys: string[]): void;
  error?: string | undefined;
  disabled?: boolean;
  maw?: string;
}

/** Some of the organization roles of the project. */
export function RoleChoice({ description, value, disabled = false, ...props }: RoleChoiceProps) {
  const { data } = useQuery(OrganizationRoles, { projectId: useOutline().id });
  const roles = data?.organizationRoles;
  const hasNone = roles?.length === 0;
  return (
    <MultiSelect
      {...props}
      value={value}
      description={hasNone ? t('This project has no organization roles yet.') : description}
      placeholder={value.length === 0 ? t('None') : ''}
      data={(roles ?? []).map(({ key, name }) => ({ value: key, label: name }))}
      disabled={disabled || !roles || hasNone}
      searchable
      maxDropdownHeight={220}
      nothingFoundMessage={t('No matching roles')}
      comboboxProps={{ transitionProps: { duration: 0 } }}
    />
  );
}
