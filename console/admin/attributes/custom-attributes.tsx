import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import {
  AuditEvents,
  type CustomAttributeRowFragment,
  CustomAttributes as CustomAttributesQuery,
  CustomAttributeUsers,
  DeleteCustomAttribute,
} from '../generated/operations.ts';
import { CopyField } from '../ui/code/copy.tsx';
import { counted } from '../ui/counted.ts';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Icon } from '../ui/icon.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { AttributeDialog } from './attribute-dialog.tsx';
import { customUrn, traitsOf, typeText } from './attribute-names.ts';

/** The attributes that the project has added to its users. */
export function CustomAttributes({ projectId, mayChange }: { projectId: string; mayChange: boolean }) {
  const { data, failure, reload } = useQuery(CustomAttributesQuery, { projectId });
  const [edited, setEdited] = useState<CustomAttributeRowFragment | 'new'>();
  const [doomed, setDoomed] = useState<CustomAttributeRowFragment>();
  const attributes = data?.customAttributes;
  if (failure && !attributes) return <LoadError failure={failure} subject="the custom attributes" retry={reload} />;
  const columns: Column<CustomAttributeRowFragment>[] = [
    { header: 'Name', isName: true, width: '30%', cell: ({ name }) => <code>{name}</code> },
    { header: 'Type', cell: typeText },
    { header: 'Rules', cell: (attribute) => traitsOf(attribute).join(', ') || '–' },
    {
      header: '',
      align: 'end',
      isPlain: true,
      cell: (attribute) =>
        mayChange && (
          <Group gap={4} wrap="nowrap" display="inline-flex">
            <Button
              variant="subtle"
              size="compact-sm"
              aria-label={`Edit ${attribute.name}`}
              onClick={() => setEdited(attribute)}
            >
              Edit
            </Button>
            <Button
              variant="subtle"
              color="red"
              size="compact-sm"
              aria-label={`Delete ${attribute.name}`}
              onClick={() => setDoomed(attribute)}
            >
              Delete
            </Button>
          </Group>
        ),
    },
  ];
  return (
    <Section
      flush
      title="Custom attributes"
      lead="Attributes of users that no standard schema has. Directories find them in /Schemas."
      actions={
        mayChange && (
          <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setEdited('new')}>
            Create attribute
          </Button>
        )
      }
    >
      <DataTable
        label="Custom attributes"
        columns={columns}
        rows={attributes}
        keyOf={({ name }) => name}
        skeletonRows={2}
        empty={
          <Empty icon="directory" title="No custom attributes yet">
            Create one here, or from a request whose attributes were ignored.
          </Empty>
        }
      />
      {attributes && attributes.length > 0 && (
        <Group py="md" px={{ base: 'md', sm: '1.5rem' }} maw="46rem">
          <CopyField label="Schema extension" value={customUrn} />
        </Group>
      )}
      <AttributeDialog
        opened={edited !== undefined}
        projectId={projectId}
        {...(edited === undefined || edited === 'new' ? {} : { attribute: edited })}
        onClose={() => setEdited(undefined)}
      />
      <ConfirmMutation
        title={`Delete the attribute ${doomed?.name}?`}
        verb="Delete attribute"
        operation={DeleteCustomAttribute}
        variables={doomed && { projectId, name: doomed.name }}
        invalidates={[CustomAttributesQuery, AuditEvents]}
        done="Attribute deleted"
        onClose={() => setDoomed(undefined)}
      >
        {doomed && <Losses projectId={projectId} name={doomed.name} />}
      </ConfirmMutation>
    </Section>
  );
}

function Losses({ projectId, name }: { projectId: string; name: string }) {
  const { data } = useQuery(CustomAttributeUsers, { projectId, name });
  if (!data) return <Text c="dimmed">Counting users…</Text>;
  return (
    <p>
      {counted(data.customAttributeUsers, 'user')} {data.customAttributeUsers === 1 ? 'loses' : 'lose'} the value.
      Claims and filters that name it find nothing.
    </p>
  );
}
