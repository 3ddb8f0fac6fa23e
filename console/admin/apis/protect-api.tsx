import { Button, Stack, Text } from '@mantine/core';
import type { ApiRowFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProject } from '../projects/project.tsx';
import { Snippets } from '../ui/code/snippets.tsx';
import { saveFile } from '../ui/files/save-file.ts';
import { Icon } from '../ui/icon.tsx';
import { snippetsOfApi } from './quickstart/snippets.ts';

/** The metadata of an API (RFC 9728), and code that verifies its tokens. */
export function ProtectApi({ api }: { api: ApiRowFragment }) {
  const { issuer } = useProject();
  const { identifier, protectedResource, scopes } = api;
  if (!protectedResource) {
    return <Text>{t('The identifier is not the address of a service: clients cannot discover its issuer.')}</Text>;
  }
  const { metadata, metadataUrl } = protectedResource;
  const save = () => saveFile('protected-resource.json', `${JSON.stringify(metadata, null, 2)}\n`, 'application/json');
  return (
    <Stack>
      <Text>
        {rich(
          'The service serves its metadata at <code>{metadataUrl}</code>. Clients, such as those of MCP, find the issuer there.',
          {
            metadataUrl,
          },
        )}
      </Text>
      <div>
        <Button variant="default" leftSection={<Icon name="download" size={16} />} onClick={save}>
          {t('Download metadata')}
        </Button>
      </div>
      <Text>{t('It accepts only tokens of this issuer, for this API, with the scope that the request needs.')}</Text>
      <Snippets snippets={snippetsOfApi({ issuer, identifier, metadataUrl, scopes })} />
    </Stack>
  );
}
