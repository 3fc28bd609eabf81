# The image of a release, beside its executables: `docker build -t plantstore .`; for another processor, `--platform linux/arm64`.
FROM --platform=$BUILDPLATFORM debian:bookworm-slim AS build
# amd64 or arm64, from the platform that is asked for.
ARG TARGETARCH
COPY plantstore-VERSION-linux-*64 /release/
RUN target=$(echo "${TARGETARCH:-$(dpkg --print-architecture)}" | sed s/amd64/x64/) \
  && install -D -m 755 "/release/plantstore-VERSION-linux-$target" /image/plantstore && mkdir /image/data
