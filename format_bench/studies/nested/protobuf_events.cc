// Decays as messages of Protobuf, each after its length, and two questions to them. Called through ctypes.

#include "events.pb.h"

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>

#include <fcntl.h>

using google::protobuf::io::FileInputStream;
using google::protobuf::io::FileOutputStream;
using google::protobuf::util::ParseDelimitedFromZeroCopyStream;
using google::protobuf::util::SerializeDelimitedToZeroCopyStream;

namespace {

constexpr int kTracks = 3;
constexpr int kFloats = 6; // of a track

struct Found {
   long events;
   double total;
};

// Arrays of shape (2 + 3 * 6, rows) and (3 * 2, rows), as in events.hxx.
struct Source {
   long rows;
   const double *floats;
   const int *integers;

   double Float(int field, long row) const { return floats[field * rows + row]; }
   double Float(int track, int field, long row) const { return Float(2 + track * kFloats + field, row); }
   int Integer(int track, int field, long row) const { return integers[(2 * track + field) * rows + row]; }
};

// Set the fields of a track, whose setters begin with PREFIX.
#define SET(MESSAGE, PREFIX, TRACK)                                                                     \
   (MESSAGE).set_##PREFIX##px(source.Float(TRACK, 0, row));                                             \
   (MESSAGE).set_##PREFIX##py(source.Float(TRACK, 1, row));                                             \
   (MESSAGE).set_##PREFIX##pz(source.Float(TRACK, 2, row));                                             \
   (MESSAGE).set_##PREFIX##probk(source.Float(TRACK, 3, row));                                          \
   (MESSAGE).set_##PREFIX##probpi(source.Float(TRACK, 4, row));                                         \
   (MESSAGE).set_##PREFIX##ipchi2(source.Float(TRACK, 5, row));                                         \
   (MESSAGE).set_##PREFIX##charge(source.Integer(TRACK, 0, row));                                       \
   (MESSAGE).set_##PREFIX##ismuon(source.Integer(TRACK, 1, row));

#define SUM(MESSAGE, PREFIX)                                                                            \
   ((MESSAGE).PREFIX##px() + (MESSAGE).PREFIX##py() + (MESSAGE).PREFIX##pz() +                          \
    (MESSAGE).PREFIX##probk() + (MESSAGE).PREFIX##probpi() + (MESSAGE).PREFIX##charge())

void SetTracks(const Source &source, long row, events::FlatEvent &event)
{
   SET(event, h1_, 0)
   SET(event, h2_, 1)
   SET(event, h3_, 2)
}

void SetTracks(const Source &source, long row, events::DeepEvent &event)
{
   event.clear_kaons();
   for (int track = 0; track < kTracks; ++track) {
      events::Kaon &kaon = *event.add_kaons();
      SET(kaon, , track)
   }
}

void AddWhole(const events::FlatEvent &event, Found &found)
{
   if (event.h1_ismuon() || event.h2_ismuon() || event.h3_ismuon())
      return;
   ++found.events;
   found.total += SUM(event, h1_) + SUM(event, h2_) + SUM(event, h3_);
}

void AddWhole(const events::DeepEvent &event, Found &found)
{
   for (const events::Kaon &kaon : event.kaons())
      if (kaon.ismuon())
         return;
   ++found.events;
   for (const events::Kaon &kaon : event.kaons())
      found.total += SUM(kaon, );
}

void AddSparse(bool is_muon, double px, Found &found)
{
   if (is_muon)
      return;
   ++found.events;
   found.total += px;
}

void AddSparse(const events::FlatEvent &event, Found &found)
{
   AddSparse(event.h1_ismuon(), event.h1_px(), found);
}

void AddSparse(const events::DeepEvent &event, Found &found)
{
   if (event.kaons_size() > 0)
      AddSparse(event.kaons(0).ismuon(), event.kaons(0).px(), found);
}

template <class Event>
bool Write(const char *path, const Source &source)
{
   const int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
   if (descriptor < 0)
      return false;
   FileOutputStream stream(descriptor);
   Event event;
   bool is_written = true;
   for (long row = 0; row < source.rows && is_written; ++row) {
      event.set_b_flightdistance(source.Float(0, row));
      event.set_b_vertexchi2(source.Float(1, row));
      SetTracks(source, row, event);
      is_written = SerializeDelimitedToZeroCopyStream(event, &stream);
   }
   return stream.Close() && is_written;
}

template <class Event>
bool Read(const char *path, bool sparse, Found &found)
{
   const int descriptor = open(path, O_RDONLY);
   if (descriptor < 0)
      return false;
   FileInputStream stream(descriptor);
   stream.SetCloseOnDelete(true);
   Event event; // one for all rows, as Protobuf's authors advise, since it keeps its memory
   bool is_at_end = false;
   while (event.Clear(), ParseDelimitedFromZeroCopyStream(&event, &stream, &is_at_end))
      sparse ? AddSparse(event, found) : AddWhole(event, found);
   return is_at_end;
}

} // namespace

extern "C" bool WriteMessages(const char *path, bool deep, long rows, const double *floats, const int *integers)
{
   const Source source{rows, floats, integers};
   return deep ? Write<events::DeepEvent>(path, source) : Write<events::FlatEvent>(path, source);
}

extern "C" bool ReadMessages(const char *path, bool deep, bool sparse, long *events, double *total)
{
   Found found{0, 0};
   const bool is_read =
      deep ? Read<events::DeepEvent>(path, sparse, found) : Read<events::FlatEvent>(path, sparse, found);
   *events = found.events;
   *total = found.total;
   return is_read;
}
