#!/usr/bin/env bash
# Builds both images for a release, on the base image of today by its digest: the tag may mean another
# image tomorrow, the digest cannot. Says the digest, which belongs into the release's notes. Without
# this script, `docker build` takes the tag.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=$(node -p 'require("./package.json").version')
base=$(sed -n 's/^ARG NODE_IMAGE=//p' deploy/docker/Dockerfile)
digest=$(docker buildx imagetools inspect "$base" --format '{{.Manifest.Digest}}')
if ! [[ "$digest" =~ ^sha256:[0-9a-f]{64}$ ]]; then
  echo "release: the registry names no digest of $base: $digest" >&2
  exit 1
fi

for image in iprisk:serve iprisk-build:build; do
  docker build -f deploy/docker/Dockerfile --target "${image#*:}" -t "${image%:*}:$version" \
    --build-arg "NODE_DIGEST=$digest" \
    --label "org.opencontainers.image.base.name=docker.io/library/$base" \
    --label "org.opencontainers.image.base.digest=$digest" .
done
echo "$base@$digest"
