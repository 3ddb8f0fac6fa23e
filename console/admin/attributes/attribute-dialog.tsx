import { Modal } from '@mantine/core';
import { type ComponentProps, lazy, Suspense } from 'react';
import { t } from '../language/language.ts';

const AttributeForm = lazy(async () => ({ default: (await import('./attribute-form.tsx')).AttributeForm }));

type AttributeDialogProps = Pick<ComponentProps<typeof AttributeForm>, 'projectId' | 'attribute' | 'initial'> & {
  opened: boolean;
  onClose(): void;
};

/** The dialog that creates a custom attribute, or changes it. */
export function AttributeDialog({ opened, onClose, ...form }: AttributeDialogProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={form.attribute ? t('Edit attribute') : t('Create attribute')}
      size="lg"
    >
      {opened && (
        <Suspense>
          <AttributeForm {...form} onClose={onClose} />
        </Suspense>
      )}
    </Modal>
  );
}
