import { Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import {
  AuditEvents,
  type CustomAttributeRowFragment,
  CustomAttributes as CustomAttributesQuery,
  CustomAttributeUsers,
  DeleteCustomAttribute,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { AddButton } from '../ui/buttons.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable, editColumn } from '../ui/lists/data-table.tsx';
import { AttributeDialog } from './attribute-dialog.tsx';
import { customUrn, traitsOf, typeText } from './attribute-names.ts';

/** The attributes that the project has added to its users. */
export function CustomAttributes({ projectId, mayChange }: { projectId: string; mayChange: boolean }) {
  const { data, failure, reload } = useQuery(CustomAttributesQuery, { projectId });
  const [edited, setEdited] = useState<CustomAttributeRowFragment | 'new'>();
  const [deleting, setDeleting] = useState<CustomAttributeRowFragment>();
  const attributes = data?.customAttributes;
  if (failure && !attributes)
    return <LoadError failure={failure} subject={t('the custom attributes')} retry={reload} />;
  const columns: Column<CustomAttributeRowFragment>[] = [
    { header: t('Name'), isName: true, width: '30%', cell: ({ name }) => <code>{name}</code> },
    { header: t('Type'), cell: typeText },
    { header: t('Rules'), cell: (attribute) => traitsOf(attribute).join(', ') || '–' },
    editColumn<CustomAttributeRowFragment>({ mayChange, edit: setEdited, remove: setDeleting }),
  ];
  return (
    <Section
      flush
      title={t('Custom attributes')}
      lead={t('Attributes of users that no standard schema has. Directories find them in /Schemas.')}
      actions={
        mayChange && (
          <AddButton variant="default" onClick={() => setEdited('new')}>
            {t('Create attribute')}
          </AddButton>
        )
      }
    >
      <DataTable
        label={t('Custom attributes')}
        columns={columns}
        rows={attributes}
        keyOf={({ name }) => name}
        skeletonRows={2}
        empty={
          <Empty icon="directory" title={t('No custom attributes yet')}>
            {t('Create one here, or from a request whose attributes were ignored.')}
          </Empty>
        }
      />
      {attributes && attributes.length > 0 && (
        <Group py="md" px={{ base: 'md', sm: '1.5rem' }} maw="46rem">
          <CopyField label={t('Schema extension')} value={customUrn} />
        </Group>
      )}
      <AttributeDialog
        opened={edited !== undefined}
        projectId={projectId}
        {...(edited === undefined || edited === 'new' ? {} : { attribute: edited })}
        onClose={() => setEdited(undefined)}
      />
      <DeleteDialog attribute={deleting && { projectId, name: deleting.name }} onClose={() => setDeleting(undefined)} />
    </Section>
  );
}

type Key = { projectId: string; name: string };

/** @param attribute absent: the dialog is closed */
function DeleteDialog({ attribute, onClose }: { attribute: Key | undefined; onClose(): void }) {
  return (
    <ConfirmMutation
      title={t('Delete the attribute {name}?', { name: attribute?.name })}
      verb={t('Delete attribute')}
      operation={DeleteCustomAttribute}
      variables={attribute}
      invalidates={[CustomAttributesQuery, AuditEvents]}
      done={t('Attribute deleted')}
      onClose={onClose}
    >
      {attribute && <Losses attribute={attribute} />}
    </ConfirmMutation>
  );
}

function Losses({ attribute }: { attribute: Key }) {
  const { data } = useQuery(CustomAttributeUsers, attribute);
  if (!data) return <Text c="dimmed">{t('Counting users…')}</Text>;
  return (
    <p>
      {t(
        '{count, plural, one {# user loses} other {# users lose}} the value. Claims and filters that name it find nothing.',
        { count: data.customAttributeUsers },
      )}
    </p>
  );
}
